/** The editor of a definition, of a new one, or of the graph of one run. */

import { useEffect, useMemo, useState } from "react";
import type { ApiProblem } from "../../api/client";
import { asProblem } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Loading } from "../../shell/fallbacks";
import { type PageProps, useTitle } from "../../shell/page";
import { Link } from "../../shell/router";
import { definitionDocument, type Loaded, newDocument, runDocument, type Source } from "./documents";
import { Editor } from "./Editor";
import { editorOf } from "./editors";
import "./editor.css";

export default function EditorPage({ params: { name, id, dialect } }: PageProps) {
  const source = useMemo(() => sourceOf(name, id, dialect), [name, id, dialect]);
  useTitle(source?.name ? `Edit ${source.name}` : `New ${dialect}`);
  if (!source) return <NotEditable dialect={dialect ?? ""} />;
  return <Shown key={`${source.kind} ${source.name}`} source={source} />;
}

function sourceOf(name?: string, id?: string, dialect?: string): Source | undefined {
  if (name !== undefined) return definitionDocument(name);
  if (id !== undefined) return runDocument(id, (one) => editorOf(one)?.ofRun);
  const editor = editorOf(dialect);
  return editor && dialect !== undefined ? newDocument(dialect, editor.first) : undefined;
}

function Shown({ source }: { source: Source }) {
  const [loaded, setLoaded] = useState<Loaded & { dialect: string }>();
  const [error, setError] = useState<ApiProblem>();
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each turn loads it again
  useEffect(() => {
    let current = true;
    setError(undefined);
    source.load().then(
      (found) => current && setLoaded(found),
      (thrown: unknown) => current && setError(asProblem(thrown)),
    );
    return () => {
      current = false;
    };
  }, [source, turn]);
  if (error) {
    return (
      <div className="page">
        <ErrorBox error={error}>
          <Button onClick={() => setTurn(turn + 1)}>Try again</Button>
        </ErrorBox>
      </div>
    );
  }
  if (!loaded) return <Loading what="Loading the editor" />;
  const editor = editorOf(loaded.dialect);
  if (!editor) return <NotEditable dialect={loaded.dialect} />;
  return <Editor source={source} loaded={loaded} dialect={loaded.dialect} editor={editor} />;
}

function NotEditable({ dialect }: { dialect: string }) {
  return (
    <div className="page">
      <Empty
        icon="edit"
        title={`Definitions of ${dialect} can't be edited here`}
        action={
          <Link className="text" to="/definitions">
            Go to definitions
          </Link>
        }
      >
        They are part of a program, or are saved with the command line.
      </Empty>
    </div>
  );
}
