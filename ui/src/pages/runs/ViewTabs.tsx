import { useState } from "react";
import { Button, IconButton } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { TextField } from "../../components/Field";
import { type Filter, sameFilter } from "./filter";
import { BUILT_IN, useViews } from "./saved-views";

interface ViewTabsProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
}

export function ViewTabs({ filter, onFilter }: ViewTabsProps) {
  const { views, save, remove } = useViews();
  const [naming, setNaming] = useState(false);
  const current = views.find((view) => sameFilter(view.filter, filter));
  return (
    <nav className="views" aria-label="Saved views">
      {views.map((view) => (
        <span key={view.name} className={view === current ? "view current" : "view"}>
          <button
            type="button"
            aria-current={view === current ? "true" : undefined}
            onClick={() => onFilter(view.filter)}
          >
            {view.name}
          </button>
          {view.own && view === current && (
            <IconButton
              icon="close"
              className="small"
              label={`Delete the view ${view.name}`}
              onClick={() => remove(view.name)}
            />
          )}
        </span>
      ))}
      {!current && (
        <Button look="ghost" icon="star" className="small" onClick={() => setNaming(true)}>
          Save view
        </Button>
      )}
      {naming && (
        <NameDialog
          onClose={() => setNaming(false)}
          onName={(name) => {
            save(name, filter);
            setNaming(false);
          }}
        />
      )}
    </nav>
  );
}

function NameDialog({ onClose, onName }: { onClose: () => void; onName: (name: string) => void }) {
  const [name, setName] = useState("");
  const taken = BUILT_IN.some((view) => view.name === name.trim());
  return (
    <Dialog
      title="Save this view"
      onClose={onClose}
      onSubmit={() => name.trim() && !taken && onName(name.trim())}
      footer={
        <Button look="primary" type="submit" disabled={!name.trim() || taken}>
          Save
        </Button>
      }
    >
      <TextField
        label="Name"
        value={name}
        maxLength={40}
        onChange={(event) => setName(event.target.value)}
        error={taken ? "A built-in view has this name." : undefined}
        hint="Saved in this browser. To share a view, share its URL."
      />
    </Dialog>
  );
}
