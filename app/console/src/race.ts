/** The race example: riders of a bicycle race pass a checkpoint. It makes a stream to look at. */
import { send } from "./server";
import { groupPath, streamPath } from "./streams";

export const RACE = "race:france";

const RIDERS = ["Castilla", "Norem", "Prickett", "Aguilar"];

/** Appends the entries in one request, then creates a group, reads three entries and acknowledges one. */
export async function appendRace(): Promise<void> {
  const entries = Array.from({ length: 12 }, (_, index) => ({
    fields: {
      rider: RIDERS[index % RIDERS.length]!,
      speed: (28 + ((index * 7) % 30) / 10).toFixed(1),
      position: String((index % RIDERS.length) + 1),
      location_id: String(1 + Math.floor(index / RIDERS.length)),
    },
  }));
  await send("POST", streamPath(RACE, "/entries:batch"), { body: { entries } });
  await send("PUT", groupPath(RACE, "judges"), { body: { after: "0" } });
}
