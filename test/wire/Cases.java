import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ContainerNode;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import org.openapitools.client.ApiClient;
import org.openapitools.client.JSON;

/**
 * Sends each recorded case with the generated client: `java Cases URL FILE`. The body and the answer are read into the classes of
 * the client and written again, and nothing may be lost. Members that are null count as absent.
 */
public class Cases {
  private static final ObjectMapper PLAIN = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    ObjectMapper mapper = JSON.getDefault().getMapper();
    int failed = 0;
    int count = 0;
    for (JsonNode one : PLAIN.readTree(new File(args[1]))) {
      count++;
      try {
        send(client, mapper, one);
      } catch (Exception error) {
        failed++;
        Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
        System.out.println(one.get("id").asText() + " " + String.valueOf(one.get("body")) + ": " + cause);
      }
    }
    System.out.println(count + " cases, " + failed + " failed");
    System.exit(failed == 0 && count > 0 ? 0 : 1);
  }

  private static void send(ApiClient client, ObjectMapper mapper, JsonNode one) throws Exception {
    Class<?> api = Class.forName("org.openapitools.client.api." + one.get("tag").asText() + "Api");
    String name = camel(one.get("id").asText());
    Method method = Arrays.stream(api.getMethods())
        .filter(each -> each.getName().equals(name))
        .min(Comparator.comparingInt(Method::getParameterCount))
        .orElseThrow(() -> new AssertionError("no method " + name));
    Object[] values = new Object[method.getParameterCount()];
    if (one.has("body")) {
      values[0] = same(mapper, one.get("body"), method.getGenericParameterTypes()[0]);
    }
    Object answer = method.invoke(api.getConstructor(ApiClient.class).newInstance(client), values);
    if (!one.has("answer") || one.get("answer").isNull()) return;
    same(mapper, one.get("answer"), method.getGenericReturnType());
    same(mapper, mapper.valueToTree(answer), method.getGenericReturnType());
  }

  /** Reads a value as a type. @throws AssertionError if it is another value when it is written again */
  private static Object same(ObjectMapper mapper, JsonNode value, Type type) throws Exception {
    Object read = mapper.readValue(mapper.treeAsTokens(value), mapper.constructType(type));
    JsonNode again = strip(PLAIN.readTree(mapper.writeValueAsString(read)));
    JsonNode sent = strip(value.deepCopy());
    Comparator<JsonNode> alike = (a, b) -> a.isNumber() && b.isNumber()
        ? a.decimalValue().compareTo(b.decimalValue()) : a.equals(b) ? 0 : 1;
    if (!sent.equals(alike, again)) throw new IllegalStateException(sent + " became " + again);
    return read;
  }

  private static JsonNode strip(JsonNode node) {
    if (node instanceof ContainerNode<?>) {
      for (Iterator<JsonNode> each = node.elements(); each.hasNext(); ) {
        JsonNode inner = each.next();
        if (inner.isNull() && node.isObject()) each.remove();
        else strip(inner);
      }
    }
    return node;
  }

  private static String camel(String name) {
    StringBuilder text = new StringBuilder();
    for (String word : name.split("_")) text.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
    return Character.toLowerCase(text.charAt(0)) + text.substring(1);
  }
}
