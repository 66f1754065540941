import { describe, expect, it } from "vitest";
import type { Approval } from "../../api/types";
import { countsVoters, obstacle, outcome, progress } from "./voting";

const alone: Approval = {
  id: "r:ok",
  run_id: "r",
  namespace: "default",
  node: "ok",
  title: "May I?",
  asked_at: 1,
  status: "open",
};
const board: Approval = {
  ...alone,
  required: 2,
  approvers: ["ada", "bob"],
  votes: [{ by: "ada", decision: "approve", at: 2 }],
};

describe("voting", () => {
  it("says how many have approved only where one is not enough", () => {
    expect(progress(alone)).toBeUndefined();
    expect(progress(board)).toBe("1 of 2");
  });

  it("matters who votes where certain people or several must", () => {
    expect(countsVoters(alone)).toBe(false);
    expect(countsVoters({ ...alone, approvers: ["ada"] })).toBe(true);
    expect(countsVoters({ ...alone, required: 2 })).toBe(true);
  });

  it("tells who can't vote, and why", () => {
    expect(obstacle(alone, "anyone")).toBeUndefined();
    expect(obstacle(board, "bob")).toBeUndefined();
    expect(obstacle(board, "ada")).toContain("You have voted");
    expect(obstacle(board, "mallory")).toBe("Only ada, bob can decide this.");
  });

  it("names who decided", () => {
    expect(outcome({ ...board, status: "approved", decided_by: "ada, bob" })).toBe("Approved by ada, bob");
    expect(outcome({ ...alone, status: "expired" })).toBe("Expired");
  });
});
