/** The draft becomes a definition. */

import { useState } from "react";
import { api } from "../../api/client";
import { asProblem } from "../../api/use-resource";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorBox } from "../../components/ErrorBox";
import { TextField } from "../../components/Field";
import { navigate } from "../../shell/router";
import { definitionPath } from "../definitions/versions";
import type { Choices } from "./draft";

interface Props {
  recording: string;
  choices: Choices;
  suggested: string;
  onClose: () => void;
}

export function SaveTemplate({ recording, choices, suggested, onClose }: Props) {
  const [name, setName] = useState(suggested);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const save = async () => {
    setBusy(true);
    try {
      const options = { ...choices };
      await api.post("/definitions", { dialect: "refs", from_run: recording, name, options });
      navigate(definitionPath(name));
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Save as a workflow"
      onClose={onClose}
      onSubmit={() => void save()}
      footer={
        <Button look="primary" type="submit" busy={busy} disabled={name.trim() === ""}>
          Save
        </Button>
      }
    >
      {error !== undefined && <ErrorBox error={asProblem(error)} />}
      <TextField
        label="Name"
        hint="A workflow of this name gets a new version"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </Dialog>
  );
}
