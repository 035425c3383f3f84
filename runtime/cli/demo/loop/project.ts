/**
 * A pipeline of the demo.
 * @param params the lines of `params:`, or nothing
 * @param relevance the step whose score ranks the products
 */
export function pipelineWith(params: string, relevance: string): string {
  return `pipeline: shop
rank: product
request:
  candidates: {}
  query: query
  user: optional(user)
  explore: optional(bool) # leaves the candidates in the order sent
${params}define:
  favourite: coalesce(if(product.brand == user.favourite_brand, 1, 0), 0)
components:
  - use: text_match
    as: title
    with: { query: query.query, field: product.title }
${relevance}  - use: score
    when: not coalesce(request.explore, false)
    unscored: last
    with: { value: relevance:score }
page: { size: 10 }
log: { unit: user, features: models }
`;
}

/** The pipeline that serves first. Its params are a guess: popularity counts most. */
export const PIPELINE = pipelineWith(
  `params:
  w_popularity: { value: 1.5, min: 0, max: 3 }
  w_rating: { value: 0.05, min: 0, max: 1 } # stars, 1 to 5
  w_discount: { value: 0, min: 0, max: 3 }
  w_brand: { value: 0, min: 0, max: 3 } # the shopper's favourite brand
`,
  `  - use: linear
    as: relevance
    with:
      weights:
        title:overlap: 1
        product.popularity: w_popularity
        product.rating: w_rating
        product.discount: w_discount
        favourite: w_brand
`,
);

/** The other files of the project, by path. */
export const SCHEMAS: Readonly<Record<string, string>> = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes: { title: string, brand: ref(brand), popularity: float, rating: float, discount: float }
`,
  'schemas/entities/brand.yaml': `entity: brand
`,
  'schemas/entities/user.yaml': `entity: user
attributes: { favourite_brand: ref(brand) }
`,
};
