declare const TYPE: unique symbol;

/** The name of a service, with the type of its value. */
export type ServiceToken<T> = string & { readonly [TYPE]?: T };

/** Gives the name of a service the type of its value. Export it from the package that has the service. */
export function serviceToken<T>(name: string): ServiceToken<T> {
  return name;
}
