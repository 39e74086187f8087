// From bytes to typed messages, by a strict XML parser and the tables that are generated from the schema.

import { SaxesParser, type SaxesTagPlain } from "saxes";
import { type Attribute, type Message, ROOTS, SHAPES, type Shape } from "./messages/index.js";

/** What cannot be read: no XML, or not what the schema requires. */
export class DecodingError extends Error {
  override readonly name = "DecodingError";
}

type Values = Record<string, unknown>;

/** An element that has begun; without a shape it is passed over, as everything that a later version adds. */
interface Element {
  readonly name: string;
  readonly shape: Shape | undefined;
  readonly values: Values;
}

/** The message in `body`; undefined for a kind that this version of the client does not know. Throws `DecodingError`. */
export function decode(body: Uint8Array): Message | undefined {
  const reader = new Reader();
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw new DecodingError(error.message);
  });
  parser.on("doctype", () => {
    throw new DecodingError("a document type is not expected");
  });
  parser.on("opentag", (tag) => reader.begin(tag));
  parser.on("closetag", () => reader.end());
  parser.write(text(body)).close();
  return reader.message;
}

function text(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (error) {
    throw new DecodingError(`no UTF-8: ${String(error)}`);
  }
}

class Reader {
  message: Message | undefined;
  readonly #open: Element[] = [];

  begin(tag: SaxesTagPlain): void {
    const parent = this.#open.at(-1);
    const shape = parent === undefined ? own(SHAPES, own(ROOTS, tag.name) ?? "") : childShape(parent, tag.name);
    const values = shape === undefined ? {} : read(shape, tag);
    if (parent === undefined && shape !== undefined) {
      values["kind"] = tag.name;
      this.message = values as unknown as Message; // every required field is checked: here and in `end`
    } else if (parent !== undefined && shape !== undefined) {
      attach(parent, tag.name, values);
    }
    this.#open.push({ name: tag.name, shape, values });
  }

  end(): void {
    const element = this.#open.pop();
    for (const [name, child] of Object.entries(element?.shape?.children ?? {})) {
      const found = element?.values[name];
      const missing = child.many ? (found as unknown[]).length === 0 : found === undefined;
      if (child.required && missing) throw new DecodingError(`${element?.name} has no ${name}`);
    }
  }
}

function childShape(parent: Element, name: string): Shape | undefined {
  const child = parent.shape && own(parent.shape.children, name);
  return child && own(SHAPES, child.shape);
}

function attach(parent: Element, name: string, values: Values): void {
  if (parent.shape?.children[name]?.many) (parent.values[name] as Values[]).push(values);
  else if (parent.values[name] === undefined) parent.values[name] = values;
  else throw new DecodingError(`${parent.name} has more than one ${name}`);
}

function read(shape: Shape, tag: SaxesTagPlain): Values {
  const values: Values = {};
  for (const [name, attribute] of Object.entries(shape.attributes)) {
    const raw = own<string>(tag.attributes, name);
    if (raw !== undefined) values[name] = convert(raw, attribute, `${name} of ${tag.name}`);
    else if (attribute.required) throw new DecodingError(`${tag.name} has no ${name}`);
  }
  for (const [name, child] of Object.entries(shape.children)) if (child.many) values[name] = [];
  return values;
}

function convert(raw: string, attribute: Attribute, what: string): string | number | boolean {
  const wrong = (): never => {
    throw new DecodingError(`${what} cannot be "${raw}"`);
  };
  switch (attribute.kind) {
    case "text":
      return raw;
    case "integer":
      return /^-?\d+$/.test(raw) && Number.isSafeInteger(Number(raw)) ? Number(raw) : wrong();
    case "decimal":
      return /^-?\d+(\.\d+)?$/.test(raw) ? Number(raw) : wrong();
    case "flag":
      return raw === "1" || (raw === "0" ? false : wrong());
    case "code":
      return attribute.codes?.find((code) => String(code) === raw) ?? wrong();
  }
}

/** The value of a name that may be anybody's: `constructor` is not in a record that does not have it. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
