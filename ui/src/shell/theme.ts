/** Dark, light, or as the system has it. `public/theme.js` sets the kept choice before the first paint. */

import { useState } from "react";

export type Theme = "system" | "light" | "dark";
const KEPT = "plait.theme";

function kept(): Theme {
  const value = localStorage.getItem(KEPT);
  return value === "light" || value === "dark" ? value : "system";
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(kept);
  const choose = (next: Theme) => {
    if (next === "system") {
      localStorage.removeItem(KEPT);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEPT, next);
      document.documentElement.dataset.theme = next;
    }
    setTheme(next);
  };
  return [theme, choose];
}
