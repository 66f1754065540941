export function recordingPath(id: string): string {
  return `/recordings/${encodeURIComponent(id)}`;
}
