import { toast } from "../shell/toasts";

/** Copies, and says so. Plain http pages on another host have no clipboard: then the text is shown to be copied by hand. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast({ kind: "ok", text: `Copied ${what}` });
  } catch {
    toast({ kind: "info", text: `Clipboard access was denied. Copy ${what} manually:`, more: text });
  }
}
