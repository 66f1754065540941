/** What language models used, in words. */

import type { AgentTokens, AgentTotals } from "../api/schema";

const CENT = 0.01;

/** "$1.23", "$0.00042"; a price that is not known is said, never shown as nothing. */
export function costWords(usd: number | undefined): string {
  if (usd === undefined) return "cost unknown";
  const small = usd > 0 && usd < CENT;
  return new Intl.NumberFormat("en-US", {
    style: "currency",
    currency: "USD",
    ...(small ? { maximumSignificantDigits: 2 } : {}),
  }).format(usd);
}

/** "1,200 tokens in (1,000 cached), 56 out". */
export function tokenWords({ input = 0, output = 0, cached = 0 }: AgentTokens): string {
  const known = cached > 0 ? ` (${count(cached)} cached)` : "";
  return `${count(input)} tokens in${known}, ${count(output)} out`;
}

/** "1,256 tokens · $0.02", for a whole run; undefined until an attempt is over. */
export function totalWords({ tokens = 0, cost_usd }: AgentTotals): string | undefined {
  if (tokens === 0) return undefined;
  return `${count(tokens)} tokens · ${costWords(cost_usd)}`;
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}
