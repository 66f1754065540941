/** "Copy as": the action of a button or dialog, for curl, the command line or Python. */

import { copyText } from "./clipboard";
import { type CopyAction, commandLine, curl } from "./copy";
import { Menu, type MenuItem } from "./Menu";

interface CopyAsProps {
  action: CopyAction;
  /** More that can be copied here, by their names. */
  others?: { [name: string]: CopyAction };
  up?: boolean;
}

export function CopyAs({ action, others = {}, up = false }: CopyAsProps) {
  const items = [...itemsOf(action), ...Object.entries(others).flatMap(([name, one]) => itemsOf(one, name))];
  return <Menu label="Copy as" icon="copy" look="ghost" side="left" up={up} items={items} />;
}

function itemsOf(action: CopyAction, name = ""): MenuItem[] {
  const item = (word: string, text: string, told: string): MenuItem => ({
    key: `${name} ${word}`,
    label: name ? `${name}: ${word}` : word,
    run: () => void copyText(text, told),
  });
  const cli = commandLine(action, window.location.origin);
  return [
    item("curl", curl(action, window.location.origin), "as curl"),
    ...(cli ? [item("Command line", cli, "as a command line")] : []),
    ...(action.python ? [item("Python", action.python, "as Python")] : []),
  ];
}
