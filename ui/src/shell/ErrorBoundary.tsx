/** A page that breaks says so, and leaves the rest standing. */

import { Component, type ReactNode } from "react";
import { asProblem } from "../api/use-resource";
import { Button } from "../components/Button";
import { ErrorBox } from "../components/ErrorBox";

export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: unknown }> {
  override state: { error?: unknown } = {};
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div className="page">
        <ErrorBox error={asProblem(this.state.error)}>
          <Button onClick={() => window.location.reload()}>Load the page again</Button>
        </ErrorBox>
      </div>
    );
  }
}
