export type Options = any;
