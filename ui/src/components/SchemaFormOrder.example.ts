import type { Schema } from "./SchemaFormModel";

/** The schema msgspec makes of an order with a nullable address, a tagged payment and lines. */
export const ORDER: Schema = {
  $ref: "#/$defs/Order",
  $defs: {
    Order: {
      title: "Order",
      type: "object",
      properties: {
        id: { type: "string", minLength: 3 },
        amount: { type: "number", exclusiveMinimum: 0 },
        currency: { enum: ["CHF", "EUR"], default: "EUR" },
        address: { anyOf: [{ type: "null" }, { $ref: "#/$defs/Address" }], default: null },
        payment: { anyOf: [{ $ref: "#/$defs/Card" }, { $ref: "#/$defs/Invoice" }] },
        lines: { type: "array", items: { $ref: "#/$defs/Line" }, minItems: 1 },
      },
      required: ["id", "amount", "payment", "lines"],
    },
    Address: { title: "Address", type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    Card: {
      title: "Card",
      type: "object",
      properties: { type: { enum: ["card"] }, number: { type: "string", pattern: "^[0-9]{4}$" } },
      required: ["type", "number"],
    },
    Invoice: {
      title: "Invoice",
      type: "object",
      properties: { type: { enum: ["invoice"] }, due: { type: "string", format: "date" } },
      required: ["type", "due"],
    },
    Line: { title: "Line", type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
  },
};
