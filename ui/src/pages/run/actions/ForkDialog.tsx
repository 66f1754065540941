/** A fork: a new run with the same history up to a node or event, optionally with other results. */

import { detailsOf } from "../details/details";
import type { ActionProps } from "./ActionForm";
import { AttributeFork } from "./AttributeFork";
import type { ForkAsked } from "./ForkForm";
import { OutputFork } from "./OutputFork";

/** What can be edited depends on what the run keeps: values of attributes, or outputs of nodes. */
export function ForkDialog(props: ActionProps & { asked: ForkAsked }) {
  const { attributes } = detailsOf(props.detail.view);
  return attributes ? <AttributeFork {...props} values={attributes} /> : <OutputFork {...props} />;
}
