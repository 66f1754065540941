import type { PageProps } from "../../shell/page";
import { DefinitionList } from "./DefinitionList";
import { DefinitionPage } from "./DefinitionPage";
import "./definitions.css";

export default function Definitions({ params }: PageProps) {
  return params.name === undefined ? <DefinitionList /> : <DefinitionPage key={params.name} name={params.name} />;
}
