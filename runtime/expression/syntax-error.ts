import type { ExpressionProblem } from './environment.js';

/** Leaves the lexer or parser at the first thing that cannot be read; parseExpression turns it into its answer. */
export class ExpressionSyntaxError extends Error {
  readonly problem: ExpressionProblem;

  constructor(start: number, end: number, message: string, help?: string) {
    super(message);
    this.name = 'ExpressionSyntaxError';
    this.problem = {
      code: 'expression_syntax',
      start,
      end,
      message,
      ...(help === undefined ? {} : { help }),
    };
  }
}
