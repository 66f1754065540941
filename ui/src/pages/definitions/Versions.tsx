/** The versions of a definition, the source of one, and the difference of two. The URL says which. */

import type { Definition, DefinitionVersion, Json as JsonValue, Version } from "../../api/types";
import { useResource } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { copyText } from "../../components/clipboard";
import { Code } from "../../components/code/Code";
import { textsOf } from "../../components/code/texts";
import { Empty } from "../../components/Empty";
import { ErrorBox } from "../../components/ErrorBox";
import { Json } from "../../components/Json";
import { JsonDiff } from "../../components/JsonDiff";
import { equal } from "../../components/JsonDiffModel";
import { TextDiff } from "../../components/TextDiff";
import { Ago } from "../../components/Time";
import { Loading } from "../../shell/fallbacks";
import { useQuery } from "../../shell/router";
import { editorOf } from "../editor/editors";
import { LoadedBadge } from "./LoadedBadge";
import { asJson, tagsOf, versionKey, versionsOf } from "./versions";

export function Versions({ definition }: { definition: Definition }) {
  const [query, setQuery] = useQuery();
  const versions = versionsOf(definition);
  const keys = versions.map((version) => versionKey(version, versions));
  const newest = versions.findIndex(({ version }) => version === definition.version);
  const shown = query.get("version") ?? keys[Math.max(newest, 0)];
  const against = query.get("against") ?? undefined;
  if (versions.length === 0 || shown === undefined) return null;
  return (
    <section className="stack" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <Table
        definition={definition}
        keys={keys}
        shown={shown}
        onShow={(key) => setQuery({ version: key, against: undefined })}
        onCompare={(key) => setQuery({ version: shown, against: key })}
      />
      {against !== undefined && against !== shown ? (
        <Difference
          name={definition.name}
          from={against}
          to={shown}
          keys={keys}
          onPick={(from, to) => setQuery({ version: to, against: from })}
          onClose={() => setQuery({ against: undefined })}
        />
      ) : (
        <Source name={definition.name} version={shown} />
      )}
    </section>
  );
}

interface TableProps {
  definition: Definition;
  /** Of the versions, newest first. */
  keys: string[];
  shown: string;
  onShow: (key: string) => void;
  onCompare: (key: string) => void;
}

function Table({ definition, keys, shown, onShow, onCompare }: TableProps) {
  return (
    <div className="card definitions-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">First seen</th>
            <th scope="col">Loaded</th>
            <th scope="col">Tags</th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {versionsOf(definition).map((version, index) => (
            <Row
              key={version.hash}
              version={version}
              tags={tagsOf(definition, version)}
              shown={keys[index] === shown}
              onShow={() => onShow(keys[index] ?? "")}
              onCompare={() => onCompare(keys[index] ?? "")}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  version: Version;
  tags: string[];
  shown: boolean;
  onShow: () => void;
  onCompare: () => void;
}

function Row({ version, tags, shown, onShow, onCompare }: RowProps) {
  return (
    <tr className={shown ? "definitions-shown" : undefined} aria-current={shown ? "true" : undefined}>
      <td>
        <span className="mono">{version.version}</span>
        {version.hash !== version.version && <span className="mono faint"> {version.hash.slice(0, 12)}</span>}
      </td>
      <td>
        <Ago at={version.created_at} />
      </td>
      <td>
        <LoadedBadge loaded={version.loaded} />
      </td>
      <td>
        <span className="row wrap">
          {tags.map((tag) => (
            <span key={tag} className="chip">
              {tag}
            </span>
          ))}
        </span>
      </td>
      <td className="definitions-act">
        {shown ? (
          <span className="faint">shown</span>
        ) : (
          <>
            <Button className="small" look="ghost" onClick={onShow} aria-label={`Show version ${version.version}`}>
              Show
            </Button>
            <Button
              className="small"
              look="ghost"
              onClick={onCompare}
              aria-label={`Compare with version ${version.version}`}
            >
              Compare
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}

function versionPath(name: string, version: string): string {
  return `/definitions/${encodeURIComponent(name)}/versions/${encodeURIComponent(version)}`;
}

function Source({ name, version }: { name: string; version: string }) {
  const { data, error } = useResource<DefinitionVersion>(versionPath(name, version));
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading what="Loading the source" />;
  const { source, file } = data;
  const json = source ? asJson(source) : undefined;
  return (
    <section className="stack tight" aria-label={`Source of ${version}`}>
      <div className="row">
        <h3 className="grow">
          Source of {version} {file && <span className="mono faint">{file}</span>}
        </h3>
        {source && (
          <Button className="small" look="ghost" icon="copy" onClick={() => void copyText(source, "the source")}>
            Copy
          </Button>
        )}
      </div>
      {!source && <Empty title="Source not available">Only versions that this server has loaded have a source.</Empty>}
      {json !== undefined && <Content value={json} language={data.dialect} />}
      {source && json === undefined && <Code text={source} language={data.dialect} label="Text" />}
    </section>
  );
}

/** A definition as JSON; the text that it holds reads as text. */
function Content({ value, language }: { value: JsonValue; language: string }) {
  const texts = textsOf(value);
  if (!texts) return <Json value={value} label="definition" />;
  return (
    <>
      {texts.files.map(({ name, text }) => (
        <section key={name} className="stack tight" aria-label={name}>
          {texts.files.length > 1 && <h3 className="mono">{name}</h3>}
          <Code text={text} language={language} label={`Text of ${name}`} />
        </section>
      ))}
      {Object.keys(texts.rest).length > 0 && <Json value={texts.rest} label="definition" />}
    </>
  );
}

interface DifferenceProps {
  name: string;
  from: string;
  to: string;
  keys: string[];
  onPick: (from: string, to: string) => void;
  onClose: () => void;
}

function Difference({ name, from, to, keys, onPick, onClose }: DifferenceProps) {
  const a = useResource<DefinitionVersion>(versionPath(name, from));
  const b = useResource<DefinitionVersion>(versionPath(name, to));
  const error = a.error ?? b.error;
  return (
    <section className="stack tight" aria-label="Difference">
      <div className="row wrap">
        <h3>From</h3>
        <Pick label="From version" value={from} keys={keys} onPick={(version) => onPick(version, to)} />
        <h3>to</h3>
        <Pick label="To version" value={to} keys={keys} onPick={(version) => onPick(from, version)} />
        <span className="grow" />
        <Button className="small" look="ghost" icon="close" onClick={onClose}>
          Show the source
        </Button>
      </div>
      {error && <ErrorBox error={error} />}
      {(a.loading || b.loading) && !error && <Loading what="Loading both versions" />}
      {a.data && b.data && <SourceDiff a={a.data} b={b.data} />}
    </section>
  );
}

function Pick({
  label,
  value,
  keys,
  onPick,
}: {
  label: string;
  value: string;
  keys: string[];
  onPick: (key: string) => void;
}) {
  return (
    <select
      className="input definitions-pick mono"
      aria-label={label}
      value={value}
      onChange={(event) => onPick(event.target.value)}
    >
      {keys.includes(value) ? null : <option>{value}</option>}
      {keys.map((key) => (
        <option key={key}>{key}</option>
      ))}
    </select>
  );
}

function SourceDiff({ a, b }: { a: DefinitionVersion; b: DefinitionVersion }) {
  if (!a.source || !b.source) {
    return <Empty title="Nothing to compare">The source of {a.source ? b.version : a.version} is not available.</Empty>;
  }
  const [left, right] = [asJson(a.source), asJson(b.source)];
  if (left !== undefined && right !== undefined) {
    const editor = editorOf(b.dialect);
    return (
      <>
        {editor && <editor.Difference before={left} after={right} />}
        <RestDiff a={left} b={right} />
      </>
    );
  }
  return <TextDiff a={a.source} b={b.source} nameA={a.version} nameB={b.version} language={b.dialect} />;
}

/** Texts are compared by line, above; what is left is compared as JSON, unless that is nothing. */
function RestDiff({ a, b }: { a: JsonValue; b: JsonValue }) {
  const [old, now] = [textsOf(a), textsOf(b)];
  if (!old || !now) return <JsonDiff a={a} b={b} />;
  return equal(old.rest, now.rest) ? null : <JsonDiff a={old.rest} b={now.rest} />;
}
