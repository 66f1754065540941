/**
 * Parts that are loaded when first shown. React's own `lazy` holds back what it has loaded by up to 300 ms a level once
 * a fallback is in the page; here what is loaded is shown at once, and what was loaded before needs no fallback at all.
 */

import { type ComponentType, type FunctionComponent, useEffect, useState } from "react";
import { Loading } from "./fallbacks";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

export interface Lazy<P> extends FunctionComponent<P> {
  /** Loads it now, to have it when it is wanted. */
  preload: () => Promise<void>;
}

export function lazy<P extends object>(load: Load<P>): Lazy<P> {
  let found: ComponentType<P> | undefined;
  const preload = async () => {
    found ??= (await load()).default;
  };
  // biome-ignore lint/correctness/noComponentHookFactories: called once a module, at its top
  function Part(props: P) {
    const [, refresh] = useState(0);
    const missing = found === undefined;
    useEffect(() => {
      if (!missing) return;
      const show = () => refresh((n) => n + 1);
      // A part that can't be loaded is an error of the page it belongs to.
      const fail = (error: unknown) =>
        refresh(() => {
          throw error;
        });
      preload().then(show, fail);
    }, [missing]);
    return found === undefined ? <Loading /> : <FoundPart part={found} props={props} />;
  }
  return Object.assign(Part, { preload });
}

function FoundPart<P extends object>({ part: Part, props }: { part: ComponentType<P>; props: P }) {
  return <Part {...props} />;
}
