/** One mistake that a user makes, in the project of base-project.ts. */
export interface Mistake {
  /** What is wrong, in the words of a title. */
  readonly what: string;
  /** Changes of a file: the text of the base project, and what is written instead. */
  readonly edit?: readonly [file: string, from: string, to: string];
  /** Files that are added or replaced. */
  readonly files?: Readonly<Record<string, string>>;
  /** The command line, without `millrace`; by default `validate`. */
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A request to a running service, instead of a command. */
  readonly request?: {
    readonly method?: string;
    readonly path: string;
    readonly type?: string;
    readonly body?: string;
  };
}

/** The mistakes of one surface. */
export interface Surface {
  readonly title: string;
  readonly mistakes: readonly Mistake[];
}
