import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EntriesApi;
import org.openapitools.client.api.GroupsApi;
import org.openapitools.client.api.PendingApi;
import org.openapitools.client.api.ReadsApi;
import org.openapitools.client.model.AckBody;
import org.openapitools.client.model.AckReply;
import org.openapitools.client.model.GroupBody;
import org.openapitools.client.model.GroupReadBody;
import org.openapitools.client.model.GroupReadPage;
import org.openapitools.client.model.GroupReadPosition;
import org.openapitools.client.model.XaddBody;
import org.openapitools.client.model.XaddReply;

/** Uses the Java client of openapi-generator; test_generated_clients.py compiles and runs it. */
public class Generated {
    /** Calls an operation. Parameters that are not given are null, so that a new optional one changes nothing here. */
    static Object call(Object api, String operation, Object... given) throws Throwable {
        for (var method : api.getClass().getMethods()) {
            var types = method.getParameterTypes();
            if (!method.getName().equals(operation) || types[types.length - 1] == Map.class) continue;
            var left = new ArrayDeque<Object>(List.of(given));
            var arguments = new Object[types.length];
            for (int at = 0; at < types.length; at++)
                if (!left.isEmpty() && types[at].isInstance(left.peek())) arguments[at] = left.poll();
            try {
                return method.invoke(api, arguments);
            } catch (java.lang.reflect.InvocationTargetException error) {
                throw error.getCause();
            }
        }
        throw new NoSuchMethodException(operation);
    }

    public static void main(String[] arguments) throws Throwable {
        var client = new ApiClient();
        client.updateBaseUri(arguments[0]);
        String key = "java/generated", group = "judges";
        var groups = new GroupsApi(client);
        var body = new GroupBody().after("0-0").createStream(true);
        call(groups, "xgroupCreate", key, group, body);

        var entry = new XaddBody().fields(Map.of("rider", "Castilla"));
        var appended = (XaddReply) call(new EntriesApi(client), "xadd", key, entry);

        var read = new GroupReadBody().group(group).consumer("alice").claimMinIdleMs(60_000L).waitMs(1_000L)
            .addStreamsItem(new GroupReadPosition().key(key));
        var page = (GroupReadPage) call(new ReadsApi(client), "xreadgroup", read);
        var delivered = page.getStreams().get(0).getEntries().get(0);
        System.out.println(delivered.getId().equals(appended.getId()) + " " + delivered.getFields().get("rider")
            + " " + delivered.getDeliveries());

        var ack = new AckBody().addIdsItem(appended.getId());
        System.out.println(((AckReply) call(new PendingApi(client), "xack", key, group, ack)).getAcknowledged());
        try {
            call(groups, "xgroupCreate", key, group, body);
        } catch (ApiException refused) {
            System.out.println(refused.getCode() + " " + refused.getResponseBody().contains("\"BUSYGROUP\""));
        }
    }
}
