import type { PageProps } from "../../shell/page";
import { DefinitionPage } from "./DefinitionPage";
import { List } from "./List";
import "./definitions.css";

export default function Definitions({ params }: PageProps) {
  return params.name === undefined ? <List /> : <DefinitionPage key={params.name} name={params.name} />;
}
