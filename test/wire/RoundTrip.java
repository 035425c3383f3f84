import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.JSON;
import org.openapitools.client.api.EntitiesApi;
import org.openapitools.client.api.FeaturesApi;
import org.openapitools.client.api.FeedbackApi;
import org.openapitools.client.api.RankingApi;
import org.openapitools.client.api.ServiceApi;
import org.openapitools.client.model.*;

/** A round trip with the client that openapi-generator generates: `java RoundTrip URL`. */
public class RoundTrip {
  private static final long LARGE = 1L << 40;

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    EntitiesApi entities = new EntitiesApi(client);
    FeaturesApi features = new FeaturesApi(client);
    RankingApi rankings = new RankingApi(client);

    EntityProduct product = new EntityProduct().productId(new Id("p1")).price(java.math.BigDecimal.valueOf(4));
    product.putAdditionalProperty("colour", "red");
    UploadProduct upload = new UploadProduct()
        .entityType(UploadProduct.EntityTypeEnum.PRODUCT)
        .addEntitiesItem(product)
        .addEntitiesItem(new EntityProduct().productId(new Id(LARGE)).price(java.math.BigDecimal.valueOf(8)));
    UploadedIds stored = entities.uploadEntities(new UploadEntitiesRequest(upload));
    check(stored.getEntityIds().equals(List.of("p1", String.valueOf(LARGE))), stored);

    SentIds ids = new SentIds().entityType(SentIds.EntityTypeEnum.PRODUCT)
        .addEntityIdsItem(new Id("p1")).addEntityIdsItem(new Id("p9"));
    GetEntities200Response found = entities.getEntities(ids);
    check(found.getEntities().get("p9") == null && found.getEntities().containsKey("p9"), found);
    check("red".equals(((Map<?, ?>) found.getEntities().get("p1")).get("colour")), found);

    PushStats push = new PushStats().view(PushStats.ViewEnum.STATS)
        .addRowsItem(new RowStats().productId(new Id("p1")).ctr(java.math.BigDecimal.valueOf(0.5)));
    check(features.pushFeatures(new PushFeaturesRequest(push)).getStored() == 1, "push");

    // The minimal request: ids alone.
    RequestSearch request = new RequestSearch()
        .addCandidatesItem(new CandidateSearch().productId(new Id("p1")))
        .addCandidatesItem(new CandidateSearch().productId(new Id(LARGE)));
    AnswerSearch minimal = rankings.rankSearch(new BodySearch(request), null, null, null, null);
    check(minimal.getRankedCandidates().stream().map(Ranked::getCandidateId).collect(Collectors.toList())
        .equals(List.of("p1", String.valueOf(LARGE))), minimal);

    ApiResponse<AnswerSearch> told =
        rankings.rankSearchWithHttpInfo(new BodySearch(request.requestId(new Id("r-1")).includeEvents(true)), "run-1", null, null, null);
    check(told.getHeaders().get("x-request-id").equals(List.of("r-1")), told.getHeaders());
    List<Event> events = told.getData().getEvents();
    Set<Class<?>> kinds = events.stream().map(event -> event.getActualInstance().getClass()).collect(Collectors.toSet());
    check(kinds.containsAll(Set.of(EventFeature.class, EventBusinessLogic.class, EventCandidate.class, EventImpression.class)), kinds);
    check(events.stream().filter(event -> event.getActualInstance() instanceof EventFeature)
        .allMatch(event -> "run-1".equals(event.getEventFeature().getRunId())), events);

    check(rankings.explainSearch(new BodySearch(request.includeEvents(null)), null, null, null, null, null, null, null, null, null, null)
        .getCandidates().getSent() == 2, "explain");
    AnswerRisk risk = rankings.scoreRisk(
        new RequestRisk().order(new CandidateRisk().orderId(new Id("o1")).amount(java.math.BigDecimal.valueOf(30))), null, null, null, null);
    check(risk.getScore().intValue() == 30 && risk.getLarge(), risk);

    SendFeedbackRequest feedback = new SendFeedbackRequest()
        .requestId(new Id("r-1"))
        .user(new FeedbackUser().userId(new Id("u1")))
        .addEventsItem(new SendFeedbackRequestEventsInner(new InteractionClick()
            .type(InteractionClick.TypeEnum.CLICK).product(new FeedbackProduct().productId(new Id("p1")))))
        .addEventsItem(new SendFeedbackRequestEventsInner(new InteractionOrder()
            .type(InteractionOrder.TypeEnum.ORDER).eventId(new Id("o-1")).revenue(java.math.BigDecimal.valueOf(19.5))
            .product(new FeedbackProduct().productId(new Id("p1")))));
    SendFeedback200Response counts = new FeedbackApi(client).sendFeedback(feedback);
    check(counts.getStored() == 1 && counts.getUnused() == 1, counts);

    try {
      rankings.rankSearch(new BodySearch(new RequestSearch().addCandidatesItem(new CandidateSearch().productId(new Id("")))), null, null, null, null);
      throw new AssertionError("an empty id was accepted");
    } catch (ApiException error) {
      Problem problem = JSON.getDefault().getMapper().readValue(error.getResponseBody(), Problem.class);
      check(error.getCode() == 422 && "invalid_body".equals(problem.getCode()), problem);
      check("/candidates/0/product_id".equals(problem.getErrors().get(0).getPointer()), problem);
    }
    check(new ServiceApi(client).ready().getStatus() == Ready200Response.StatusEnum.OK, "ready");
    System.out.println("the round trip holds");
  }

  private static void check(boolean holds, Object found) {
    if (!holds) throw new AssertionError(String.valueOf(found));
  }
}
