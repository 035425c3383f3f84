import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One node of OpenSearch, in the folder of the first argument, on the port of the second one, until standard input ends. */
public class OpenSearchNode {
  public static void main(String[] args) throws Exception {
    try (OpenSearchRunner runner = new OpenSearchRunner()) {
      runner
          .onBuild(
              (number, settings) -> {
                settings.put("http.port", args[1]);
                settings.put("transport.port", "0");
                settings.put("discovery.type", "single-node");
                settings.put("cluster.routing.allocation.disk.threshold_enabled", "false");
              })
          .build(OpenSearchRunner.newConfigs().basePath(args[0]).numOfNode(1));
      while (System.in.read() >= 0) {}
    }
    System.exit(0);
  }
}
