import type { ExpressionProblem } from './environment.js';

/** Thrown by the lexer and the parser at the first syntax error. parseExpression turns it into its result. */
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
