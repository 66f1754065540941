/** All about one step, and what can be done with it. */

import type { Step } from "../../api/goals";
import { Button, IconButton, LinkButton } from "../../components/Button";
import { Json } from "../../components/Json";
import { useKey } from "../../shell/keys";
import type { CatalogIndex } from "./catalog-index";
import { Health } from "./Health";
import { planPath } from "./plan/plan-query";
import { StepAttributes } from "./StepAttributes";
import { StepConfig } from "./StepConfig";
import "./step-panel.css";

interface StepPanelProps {
  step: Step;
  catalog: CatalogIndex;
  /** Whether the person may change the catalog. */
  may: boolean;
  to: (id: string) => string;
  onEdit: () => void;
  onRemove: () => void;
  onClose: () => void;
}

export function StepPanel({ step, catalog, may, to, onEdit, onRemove, onClose }: StepPanelProps) {
  useKey("Escape", onClose, { label: "Close the step", group: "Catalog" });
  const labels = Object.entries(step.labels ?? {});
  return (
    <aside className="inspector" aria-label={`Step ${step.name}`}>
      <header className="inspector-head">
        <div className="grow">
          <h2 className="clip">{step.name}</h2>
          <code className="faint clip inspector-id" title={step.id}>
            {step.id}
          </code>
        </div>
        <IconButton icon="close" label="Close the step" onClick={onClose} />
      </header>
      <div className="inspector-body">
        <div className="row wrap">
          <span className="chip">{step.type}</span>
          <Health health={catalog.health[step.id]} words />
          {labels.map(([key, value]) => (
            <span key={key} className="chip">
              <span className="faint">{key}</span>
              {value}
            </span>
          ))}
        </div>
        <div className="row wrap small">
          <LinkButton to={planPath([step.id])} look="primary" icon="goal">
            Plan
          </LinkButton>
          {may && (
            <>
              <Button icon="edit" onClick={onEdit}>
                Edit
              </Button>
              <Button icon="trash" look="danger" onClick={onRemove}>
                Unregister
              </Button>
            </>
          )}
        </div>
        <StepAttributes step={step} catalog={catalog} to={to} />
        <StepConfig step={step} to={to} />
        <details>
          <summary className="muted">JSON</summary>
          <Json value={step} label="step" />
        </details>
      </div>
    </aside>
  );
}
