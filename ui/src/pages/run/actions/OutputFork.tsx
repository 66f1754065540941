/** A fork in which a completed node may get another output. */

import { useEffect, useState } from "react";
import { api } from "../../../api/client";
import type { Json, Node, RunDetail } from "../../../api/types";
import { CheckField, SelectField, TextArea } from "../../../components/Field";
import { parseJson } from "../../../components/parse-json";
import { placeOf } from "../distinct-names";
import { runPath } from "../use-run";
import type { ActionProps } from "./ActionForm";
import { completionEvent } from "./completion-event";
import { canFork, type ForkAsked, ForkForm } from "./ForkForm";

export function OutputFork(props: ActionProps & { asked: ForkAsked }) {
  const { asked } = props;
  const { run, view, seq, actions } = props.detail;
  const [editing, setEditing] = useState(false);
  const [edited, setEdited] = useState<Node | undefined>(asked.node);
  const [text, setText] = useState(() => JSON.stringify(asked.node?.output ?? null, null, 2));
  const anywhere = typeof asked.at !== "number";
  // A node stays in the new run's history, with the new output, only if the cut is right after it.
  const closing = useCompletionEvent(run.id, seq, editing && anywhere ? edited : undefined);
  const value = parseJson(text);
  const edits: { [node: string]: Json } = editing && edited && value.ok ? { [edited.id]: value.value } : {};
  const ready = !editing || (value.ok && edited !== undefined);
  const completed = view.nodes.filter((node) => node.status === "completed" && canFork(node));
  const choose = (id: string | undefined) => {
    const node = view.nodes.find((one) => one.id === id);
    setEdited(node);
    setText(JSON.stringify(node?.output ?? null, null, 2));
  };
  return (
    <ForkForm {...props} at={editing ? (closing ?? null) : undefined} edits={ready ? { edits } : undefined}>
      {actions.includes("edit_outputs") && completed.length > 0 && (
        <CheckField
          label="Change the output of a completed node"
          hint={anywhere ? "The new run continues right after that node." : undefined}
          checked={editing}
          onChange={(event) => {
            setEditing(event.target.checked);
            if (!edited) choose(completed.at(-1)?.id);
          }}
        />
      )}
      {editing && (
        <>
          <SelectField label="Node" value={edited?.id ?? ""} onChange={(event) => choose(event.target.value)}>
            {completed.map((node) => (
              <option key={node.id} value={node.id}>
                {placeOf(node)}
              </option>
            ))}
          </SelectField>
          <TextArea
            label="Output (JSON)"
            rows={8}
            value={text}
            error={value.ok ? undefined : value.error}
            onChange={(event) => setText(event.target.value)}
          />
        </>
      )}
    </ForkForm>
  );
}

function useCompletionEvent(id: string, last: number, node: Node | undefined): number | undefined {
  const [found, setFound] = useState<{ node: string; seq: number }>();
  const wanted = node?.id;
  useEffect(() => {
    if (wanted === undefined) return;
    let current = true;
    const look = async (at: number) => (await api.get<RunDetail>(runPath(id, `?at=${at}`))).view.nodes;
    completionEvent(wanted, last, look)
      .then((seq) => current && setFound({ node: wanted, seq }))
      .catch(() => current && setFound(undefined));
    return () => {
      current = false;
    };
  }, [id, last, wanted]);
  return found?.node === wanted ? found?.seq : undefined;
}
