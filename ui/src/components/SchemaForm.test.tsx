import { act, cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../api/types";
import { type FormState, SchemaForm, useSchemaForm } from "./SchemaForm";
import type { Schema } from "./SchemaFormModel";

afterEach(cleanup);

const CART: Schema = {
  type: "object",
  properties: {
    customer_email: { type: "string", minLength: 3, description: "Where the receipt goes" },
    amount: { type: "number", exclusiveMinimum: 0 },
    gift: { type: "boolean", default: false },
    lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } },
    payment: {
      anyOf: [
        {
          title: "Card",
          type: "object",
          properties: { type: { const: "card" }, number: { type: "string" } },
          required: ["type", "number"],
        },
        {
          title: "Invoice",
          type: "object",
          properties: { type: { const: "invoice" }, due: { type: "string", format: "date" } },
          required: ["type", "due"],
        },
      ],
    },
    address: {
      anyOf: [{ type: "object", properties: { city: { type: "string" } }, required: ["city"] }, { type: "null" }],
      default: null,
    },
  },
  required: ["customer_email", "amount", "payment"],
};

interface HostProps {
  schema: Schema | undefined;
  initial: Json | undefined;
  hand: { current: FormState };
}

function Host({ schema, initial, hand }: HostProps) {
  hand.current = useSchemaForm(schema, initial);
  return <SchemaForm form={hand.current} label="Input" />;
}

/** A form on the page, and a hand on its state. */
function show(schema: Schema | undefined, initial?: Json): { current: FormState } {
  const hand = {} as { current: FormState };
  render(<Host schema={schema} initial={initial} hand={hand} />);
  return hand;
}

const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));

describe("a form from a schema", () => {
  test("gives the value that was filled in, in the order of the schema", () => {
    const form = show(CART);
    type("Amount", "12.50");
    type("Customer email", "ann@example.org");
    type("Number", "4242");
    fireEvent.click(screen.getByLabelText("Gift"));
    expect(JSON.stringify(form.current.now)).toBe(
      '{"customer_email":"ann@example.org","amount":12.5,"gift":true,"payment":{"type":"card","number":"4242"}}',
    );
  });

  test("complains about nothing before it was touched, about a field when it is left, and about all when it is sent", () => {
    const form = show(CART);
    expect(screen.queryByText("Required")).toBeNull();
    fireEvent.blur(screen.getByLabelText("Customer email"));
    expect(screen.getAllByText("Required")).toHaveLength(1);
    let taken: unknown = "not yet";
    act(() => {
      taken = form.current.take();
    });
    expect(taken).toBeUndefined();
    expect(screen.getAllByText("Required")).toHaveLength(3);
    expect(document.activeElement).toBe(screen.getByLabelText("Customer email"));
    expect(screen.getByLabelText("Amount").getAttribute("aria-invalid")).toBe("true");
  });

  test("keeps a number as it is typed, and says when it is none", () => {
    const form = show(CART);
    type("Amount", "1.");
    expect((screen.getByLabelText("Amount") as HTMLInputElement).value).toBe("1.");
    type("Amount", "1,5");
    fireEvent.blur(screen.getByLabelText("Amount"));
    expect(screen.getByText("Not a number. Write decimals with a point.")).toBeTruthy();
    type("Amount", "1.50");
    expect((form.current.now as { amount: number }).amount).toBe(1.5);
  });

  test("a switch that is not there shows its default, and is written only when it is moved", () => {
    const form = show({ type: "object", properties: { enabled: { type: "boolean", default: true } } }, {});
    const box = screen.getByLabelText<HTMLInputElement>(/Enabled/);
    expect(box.checked).toBe(true);
    expect(form.current.now).toEqual({});
    fireEvent.click(box);
    expect(form.current.now).toEqual({ enabled: false });
  });

  test("adds and removes items of a list and optional parts", () => {
    const form = show(CART);
    press("Add lines");
    type("Sku", "pot");
    press("Add line");
    expect(screen.getAllByLabelText("Sku")).toHaveLength(2);
    press("Remove Line 1");
    expect((form.current.now as { lines: Json }).lines).toEqual([{}]);
    press("Add address");
    type("City", "Bern");
    expect((form.current.now as { address: Json }).address).toEqual({ city: "Bern" });
    press("Remove Address");
    expect(form.current.now).not.toHaveProperty("address");
  });

  test("another branch of a union starts afresh, with its tag", () => {
    const form = show(CART);
    type("Number", "4242");
    fireEvent.change(screen.getByLabelText("Kind of Payment"), { target: { value: "1" } });
    expect((form.current.now as { payment: Json }).payment).toEqual({ type: "invoice" });
    type("Due", "2026-12-24");
    expect((form.current.now as { payment: Json }).payment).toEqual({ type: "invoice", due: "2026-12-24" });
  });

  test("the entries of a map have names of their own", () => {
    const form = show({ type: "object", additionalProperties: { type: "integer" } });
    press("Add an entry");
    fireEvent.change(screen.getByLabelText("Name of entry name"), { target: { value: "stock" } });
    type("Value of stock", "7");
    expect(form.current.now).toEqual({ stock: 7 });
    press("Remove stock");
    expect(form.current.now).toEqual({});
  });
});

describe("raw JSON", () => {
  test("holds the same value, there and back", () => {
    const form = show(CART);
    type("Customer email", "ann@example.org");
    press("Edit as JSON");
    const text = screen.getByLabelText("Input as JSON") as HTMLTextAreaElement;
    expect(JSON.parse(text.value)).toMatchObject({ customer_email: "ann@example.org" });
    fireEvent.change(text, {
      target: { value: '{"customer_email": "bob", "amount": 3, "payment": {"type": "card", "number": "1"}}' },
    });
    press("Back to the form");
    expect((screen.getByLabelText("Customer email") as HTMLInputElement).value).toBe("bob");
    expect(form.current.now).toEqual({ customer_email: "bob", amount: 3, payment: { type: "card", number: "1" } });
  });

  test("that can't be read is not left, and not sent", () => {
    const form = show(CART);
    press("Edit as JSON");
    fireEvent.change(screen.getByLabelText("Input as JSON"), { target: { value: "{" } });
    expect((screen.getByRole("button", { name: "Back to the form" }) as HTMLButtonElement).disabled).toBe(true);
    let taken: unknown;
    act(() => {
      taken = form.current.take();
    });
    expect(taken).toBeUndefined();
    expect(screen.getByText(/^Invalid JSON/)).toBeTruthy();
  });

  test("a value of another kind than its field stays, as JSON", () => {
    const form = show(CART, { customer_email: { odd: true }, amount: 1, payment: { type: "card", number: "1" } });
    expect((screen.getByLabelText("Customer email") as HTMLTextAreaElement).value).toBe('{\n  "odd": true\n}');
    expect(form.current.now).toMatchObject({ customer_email: { odd: true } });
  });

  test("is all there is without a schema, and may be empty", () => {
    const form = show(undefined);
    expect(screen.queryByRole("button")).toBeNull();
    expect(form.current.take()).toEqual({ value: undefined });
    fireEvent.change(screen.getByLabelText("Input as JSON"), { target: { value: "[1]" } });
    expect(form.current.take()).toEqual({ value: [1] });
  });
});

describe("what the server says", () => {
  test("stands at its field, and goes when the field is changed", () => {
    const form = show(CART, { customer_email: "bob", amount: 1, payment: { type: "card", number: "1" } });
    act(() => form.current.fail([{ pointer: "/payment/number", message: "is stolen" }]));
    const field = screen.getByLabelText("Number");
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toBe("is stolen");
    type("Number", "2");
    expect(screen.queryByText("is stolen")).toBeNull();
  });

  test("about a place that is not drawn stands at the nearest place that is", () => {
    const form = show(CART, { customer_email: "bob", amount: 1, payment: { type: "card", number: "1" } });
    act(() =>
      form.current.fail([
        { pointer: "/address/city", message: "is unknown" },
        { pointer: "", message: "is odd" },
      ]),
    );
    expect(within(screen.getByRole("group", { name: /Address/ })).getByText("/city: is unknown")).toBeTruthy();
    expect(screen.getByText("is odd")).toBeTruthy();
  });
});

test("HTML in titles and descriptions is only text", () => {
  const html = "<img src=x onerror=alert(1)>";
  show({ type: "object", properties: { a: { type: "string", title: html, description: html, default: html } } });
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getAllByText(html, { exact: false }).length).toBeGreaterThan(0);
});
