/** "Copy as": the action of a button or dialog, for curl, the command line or Python. */

import { copyText } from "./clipboard";
import { type CopyAction, commandLine, curl } from "./copy";
import { Menu, type MenuItem } from "./Menu";

export function CopyAs({ action, up = false }: { action: CopyAction; up?: boolean }) {
  const items: MenuItem[] = [
    { key: "curl", label: "curl", run: () => void copyText(curl(action, window.location.origin), "as curl") },
  ];
  const { python } = action;
  const cli = commandLine(action, window.location.origin);
  if (cli) items.push({ key: "cli", label: "Command line", run: () => void copyText(cli, "as a command line") });
  if (python) items.push({ key: "python", label: "Python", run: () => void copyText(python, "as Python") });
  return <Menu label="Copy as" icon="copy" look="ghost" side="left" up={up} items={items} />;
}
