import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.io.ByteArrayInputStream;

/** Sends an append as Java's own client does by default: with `Upgrade: h2c`. */
public class Upgrading {
    public static void main(String[] arguments) throws Exception {
        byte[] body = "{\"fields\":{\"rider\":\"Castilla\"}}".getBytes(StandardCharsets.UTF_8);
        var publishers = new HttpRequest.BodyPublisher[] {
            BodyPublishers.ofByteArray(body),
            BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)),
        };
        for (var publisher : publishers) {
            // A client of its own for each: only the first request of a connection asks for the upgrade.
            var client = HttpClient.newHttpClient();
            for (int turn = 0; turn < 2; turn++) {
                var request = HttpRequest.newBuilder(URI.create(arguments[0]))
                    .header("Content-Type", "application/json")
                    .POST(publisher)
                    .build();
                var answer = client.send(request, BodyHandlers.ofString());
                System.out.println(answer.version() + " " + answer.statusCode());
            }
        }
    }
}
