/**
 * Makes `instanceof` of a class hold for the instances of its other copies too: a plugin may have imported another copy of
 * Millrace, whose errors are the same. Subclasses keep the plain rule.
 * @param name the class's, the same in every copy
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
