/**
 * The classes of requests, the most important first. Under load the last class is shed first.
 *
 * `share` is a part of MILLRACE_MAX_IN_FLIGHT and of MILLRACE_QUEUE_MS. Requests of the class are admitted up to that
 * part. The shares decrease, so that important requests are still admitted when others are shed.
 */
export const REQUEST_CLASSES = [
  { name: 'health', share: Infinity },
  { name: 'ranking', share: 1 },
  { name: 'online_features', share: 0.8 },
  { name: 'feedback', share: 0.6 },
  { name: 'explain', share: 0.4 },
  { name: 'upload', share: 0.2 },
] as const;

export type RequestClass = (typeof REQUEST_CLASSES)[number]['name'];

/** The index of a class in REQUEST_CLASSES. */
export const CLASS_NUMBER = Object.fromEntries(
  REQUEST_CLASSES.map(({ name }, number) => [name, number]),
) as Readonly<Record<RequestClass, number>>;
