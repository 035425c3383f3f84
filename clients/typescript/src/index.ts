export {
  Millrace,
  type ClientOptions,
  type ExplainOptions,
  type ExportOptions,
  type InviteOptions,
  type Ranking,
  type Run,
  type RunOptions,
  type ShareOptions,
} from './client.js';
export { ConnectionFailed, MillraceError, Problem, type ProblemDocument, type Violation } from './errors.js';
export type * from './project.js';
export type { CallOptions } from './transport.js';
