/** A data set cannot be made. The message says why. */
export class DataSetProblem extends Error {
  constructor(
    message: string,
    readonly help?: string,
  ) {
    super(message);
    this.name = 'DataSetProblem';
  }
}
