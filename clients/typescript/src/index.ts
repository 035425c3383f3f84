export {
  Millrace,
  type ClientOptions,
  type ExplainOptions,
  type InviteOptions,
  type Ranking,
  type Run,
  type RunOptions,
} from './client.js';
export { ConnectionFailed, MillraceError, Problem, type ProblemDocument, type Violation } from './errors.js';
export type * from './project.js';
export type { CallOptions } from './transport.js';
