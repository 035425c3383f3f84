/** Explanations and events show this instead of a private value. */
export const PRIVATE = 'private';
