"""Instructions about recording for a client's model."""

from typing import Final

INSTRUCTIONS: Final = """\
Your tool calls are recorded as steps of a workflow that can be run again with other input.

- Each successful or failed call is a step, named after its tool in lower case and numbered: the first call of GET_USER
  is get_user_1, the second get_user_2. The result's `_meta` has the name as `plait/step`.
- When an argument comes from an earlier result, pass a reference instead of the value: "@get_user_1.id",
  "@list_orders_1[0].id", or inside text "Dear @get_user_1.name". It is replaced by the value before the tool is called.
- "@input.field" is the workflow's input: use it for what should differ from run to run.
- A text that must begin with @ and is no reference is written with @@: "@@get_user_1" is sent as "@get_user_1".
- The WORKFLOW_RECORDING_* tools control the recording and are not recorded: set results without a call, look at the
  steps, stop, and save the recording as a workflow."""
