/** The syntax tree of an expression. Offsets are into its text. The `depth` of a leaf is 1. */
interface NodeBase {
  readonly start: number;
  readonly end: number;
  readonly depth: number;
}

export interface NumberNode extends NodeBase {
  readonly kind: 'number';
  readonly value: number;
}

export interface TextNode extends NodeBase {
  readonly kind: 'text';
  readonly value: string;
}

export interface BoolNode extends NodeBase {
  readonly kind: 'bool';
  readonly value: boolean;
}

/** `margin` */
export interface NameNode extends NodeBase {
  readonly kind: 'name';
  readonly name: string;
}

/** `product.brand.name` */
export interface PathNode extends NodeBase {
  readonly kind: 'path';
  readonly segments: readonly string[];
}

/** `view:feature` */
export interface FeatureNode extends NodeBase {
  readonly kind: 'feature';
  readonly view: string;
  readonly feature: string;
}

export interface UnaryNode extends NodeBase {
  readonly kind: 'unary';
  readonly op: '-' | 'not';
  readonly operand: ExpressionNode;
}

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Arithmetic = '+' | '-' | '*' | '/' | '%';
export type BinaryOperator = Comparison | Arithmetic | 'and' | 'or';

export interface BinaryNode extends NodeBase {
  readonly kind: 'binary';
  readonly op: BinaryOperator;
  readonly left: ExpressionNode;
  readonly right: ExpressionNode;
}

/** `x in (a, b)`, and `x in list`, which has the list as its only choice. */
export interface InNode extends NodeBase {
  readonly kind: 'in';
  readonly negated: boolean;
  /** Whether the choices are in parentheses. */
  readonly enclosed: boolean;
  readonly operand: ExpressionNode;
  readonly choices: readonly ExpressionNode[];
}

export interface CallNode extends NodeBase {
  readonly kind: 'call';
  readonly name: string;
  readonly args: readonly ExpressionNode[];
}

/** `x[0]`: one element of a vector or a list, counted from 0. */
export interface IndexNode extends NodeBase {
  readonly kind: 'index';
  readonly operand: ExpressionNode;
  readonly index: ExpressionNode;
}

export type ReferenceNode = NameNode | PathNode | FeatureNode;

export type ExpressionNode =
  NumberNode | TextNode | BoolNode | ReferenceNode | UnaryNode | BinaryNode | InNode | CallNode | IndexNode;

export function childrenOf(node: ExpressionNode): readonly ExpressionNode[] {
  switch (node.kind) {
    case 'unary':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'in':
      return [node.operand, ...node.choices];
    case 'call':
      return node.args;
    case 'index':
      return [node.operand, node.index];
    default:
      return [];
  }
}

/** Whether the part is written as a number, a text or a truth value. */
export function isLiteral(node: ExpressionNode): boolean {
  if (node.kind === 'unary') return node.op === '-' && node.operand.kind === 'number';
  return node.kind === 'number' || node.kind === 'text' || node.kind === 'bool';
}

/** The names that an expression uses, in written order, including duplicates. */
export function namesIn(node: ExpressionNode): ReferenceNode[] {
  if (node.kind === 'name' || node.kind === 'path' || node.kind === 'feature') return [node];
  return childrenOf(node).flatMap(namesIn);
}
