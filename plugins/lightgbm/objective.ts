import { eachNumber, ModelFileError, softmax, type Transform } from 'millrace/api';

/**
 * How LightGBM's `predict` transforms raw scores, by the objective as the model file writes it, e.g. `binary
 * sigmoid:1` (ConvertOutput of LightGBM's objectives).
 * @returns undefined if it does not change them
 * @throws ModelFileError for an unknown objective
 */
export function objectiveTransform(objective: string): Transform | undefined {
  const [name = '', ...parameters] = objective.split(/\s+/);
  switch (name) {
    case 'binary':
    case 'multiclassova':
      return eachNumber(sigmoid(parameter(parameters, 'sigmoid')));
    case 'multiclass':
      return softmax();
    case 'cross_entropy':
    case 'xentropy':
      return eachNumber(sigmoid(1));
    case 'cross_entropy_lambda':
    case 'xentlambda':
      return eachNumber((x) => Math.log1p(Math.exp(x)));
    case 'poisson':
    case 'gamma':
    case 'tweedie':
      return eachNumber(Math.exp);
    case 'regression':
    case 'regression_l1':
    case 'huber':
    case 'fair':
    case 'quantile':
    case 'mape':
      return parameters.includes('sqrt') ? eachNumber((x) => Math.sign(x) * x * x) : undefined;
    case 'lambdarank':
    case 'rank_xendcg':
    case 'custom':
    case 'none':
    case '':
      return undefined;
    default:
      throw new ModelFileError(`its objective \`${name}\` is not known, so only raw scores are possible`);
  }
}

function sigmoid(slope: number): (x: number) => number {
  return (x) => 1 / (1 + Math.exp(-slope * x));
}

function parameter(parameters: readonly string[], name: string): number {
  const written = parameters.find((one) => one.startsWith(`${name}:`));
  const value = written === undefined ? 1 : Number(written.slice(name.length + 1));
  if (value > 0) return value;
  throw new ModelFileError(`its objective's ${name} is not a positive number`);
}
