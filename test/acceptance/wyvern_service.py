"""
A service made with the library wyvern-ai, for wyvern.ts: `python wyvern_service.py PORT`. REDIS_HOST and REDIS_PORT name
its Redis. It ranks products by their price, and its pipelines are those that wyvern.ts declares for Millrace.
"""

import sys
import warnings
from typing import List, Optional

warnings.filterwarnings("ignore")

from wyvern import Identifier, ModelComponent, ModelInput, ModelOutput, ProductEntity, RankingPipeline, RankingRequest, RankingResponse, WyvernEntity, WyvernService
from wyvern.components.business_logic.boosting_business_logic import BoostingBusinessLogicComponent
from wyvern.components.business_logic.business_logic import BusinessLogicPipeline
from wyvern.components.business_logic.pinning_business_logic import PinningBusinessLogicComponent


class Brand(WyvernEntity):
    brand_id: str
    name: Optional[str]
    fame: Optional[float]

    def generate_identifier(self):
        return Identifier(identifier=self.brand_id, identifier_type="brand")


class Product(ProductEntity):
    price: Optional[float]
    label: Optional[str]
    on_sale: Optional[bool]
    brand_id: Optional[str]
    brand: Optional[Brand]

    def nested_hydration(self):
        return {"brand_id": "brand"}


class Request(RankingRequest[Product]):
    candidates: List[Product] = []


class Model(ModelComponent[ModelInput[Product, Request], ModelOutput[float]]):
    async def inference(self, input, **kwargs):
        return ModelOutput(data={one.identifier: self.score(one) for one in input.entities}, model_name=self.name)

    def score(self, one):
        return one.price or 0.0


class Missing(Model):
    def score(self, one):
        return None


class Label(Model):
    def score(self, one):
        return (1 if one.label == "" else 0) + (10 if one.on_sale else 0) + (100 if one.price is None else one.price)


class NamedBrand(Model):
    def score(self, one):
        return (1 if one.brand and one.brand.name == "sent" else 0) + ((one.brand.fame or 0) if one.brand else 0)


class Pin(PinningBusinessLogicComponent[Product, Request]):
    async def execute(self, input, **kwargs):
        return self.pin(input.scored_candidates, {"p2": 1}, lambda one: one.product_id)


class Raise(BoostingBusinessLogicComponent[Product, Request]):
    async def execute(self, input, **kwargs):
        return self.boost(input.scored_candidates, {"x"}, 2, lambda one: one.label, multiplicative=True)


def pipeline(path, model_class, *logic):
    class Pipeline(RankingPipeline[Product]):
        PATH = f"/{path}"
        REQUEST_SCHEMA_CLASS = Request
        RESPONSE_SCHEMA_CLASS = RankingResponse

        def get_model(self):
            return model_class(name=f"{path}_model")

        def get_business_logic(self):
            return BusinessLogicPipeline[Product, Request](*[one() for one in logic], name=f"{path}_logic")

    Pipeline.__name__ = f"Pipeline_{path}"
    return Pipeline


ROUTES = [
    pipeline("ranking", Model),
    pipeline("by_label", Label),
    pipeline("by_brand", NamedBrand),
    pipeline("pinned", Model, Pin),
    pipeline("raised", Model, Raise),
    pipeline("modelled", Missing),
]
WyvernService.run(route_components=ROUTES, host="127.0.0.1", port=int(sys.argv[1]))
