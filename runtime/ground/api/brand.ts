/**
 * Makes `instanceof` true for instances of other copies of a class. A plugin may have imported another copy of
 * Millrace, whose errors are the same. Subclasses keep the normal rule.
 * @param name the name of the class, the same in every copy
 */
export function recognise(own: abstract new (...parameters: never) => object, name: string): void {
  const brand = Symbol.for(`millrace.${name}`);
  Object.defineProperty(own.prototype, brand, { value: true });
  Object.defineProperty(own, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this === own) return typeof value === 'object' && value !== null && brand in value;
      return Function.prototype[Symbol.hasInstance].call(this, value);
    },
  });
}
