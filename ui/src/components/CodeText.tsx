/** A sentence of the server in which `names` are set as code. */
export function CodeText({ text }: { text: string }) {
  // Every second part stands between backticks; parts have no identity but their place.
  return text.split("`").map((part, index) => {
    const key = `${index} ${part}`;
    return index % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
  });
}
