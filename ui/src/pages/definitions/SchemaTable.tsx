/** A JSON Schema to be read: its fields as a table, and the schema itself folded away. */

import { useMemo } from "react";
import type { Json as JsonValue } from "../../api/types";
import { Json } from "../../components/Json";
import "../../components/SchemaForm.css";
import { schemaOf } from "../../components/SchemaFormModel";
import { linesOfSchema, typeText } from "../../components/SchemaFormWords";

interface Props {
  /** What the API has as the schema, if anything. */
  value: JsonValue | undefined;
  title: string;
  none: string;
}

export function SchemaTable({ value, title, none }: Props) {
  const schema = schemaOf(value);
  const lines = useMemo(() => (schema ? linesOfSchema(schema) : []), [schema]);
  return (
    <section className="stack tight" aria-label={title}>
      <h2>{title}</h2>
      {!schema && <p className="muted">{none}</p>}
      {schema && lines.length === 0 && <p>{typeText(schema, schema)}</p>}
      {lines.length > 0 && (
        <div className="card definitions-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Type</th>
                <th scope="col">Description</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <tr key={line.pointer}>
                  <td className="mono" style={{ paddingLeft: 12 + line.depth * 16 }}>
                    {line.name}
                    {!line.required && <span className="schema-optional"> optional</span>}
                  </td>
                  <td>{line.type}</td>
                  <td className="muted">{line.text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value !== undefined && schema && (
        <details>
          <summary className="muted">JSON Schema</summary>
          <Json value={value} label={`${title} schema`} />
        </details>
      )}
    </section>
  );
}
