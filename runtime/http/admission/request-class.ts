/**
 * The classes of requests, the most important first. Under load the last class is refused first.
 *
 * `share` is the part of MILLRACE_MAX_IN_FLIGHT and of MILLRACE_QUEUE_MS up to which requests of the class are admitted.
 * The shares fall, so that an important request finds room when the others are refused.
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

/** Place of a class in REQUEST_CLASSES. */
export const CLASS_NUMBER = Object.fromEntries(
  REQUEST_CLASSES.map(({ name }, number) => [name, number]),
) as Readonly<Record<RequestClass, number>>;
