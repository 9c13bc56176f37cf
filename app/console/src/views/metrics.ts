/** The page `/metrics` of the server, in the text format of Prometheus. */

interface Sample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export class Metrics {
  constructor(private readonly samples: ReadonlyMap<string, readonly Sample[]>) {}

  has(name: string): boolean {
    return this.samples.has(name);
  }

  /** The sum of a metric over its labels; 0 if it is missing. */
  value(name: string): number {
    return (this.samples.get(name) ?? []).reduce((sum, each) => sum + each.value, 0);
  }

  label(name: string, label: string): string | undefined {
    return this.samples.get(name)?.[0]?.labels.get(label);
  }

  /** All samples of a metric, one for each combination of labels. */
  each(name: string): readonly Sample[] {
    return this.samples.get(name) ?? [];
  }

  buckets(name: string): readonly Sample[] {
    return this.samples.get(`${name}_bucket`) ?? [];
  }
}

export function readMetrics(text: string): Metrics {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split("\n")) {
    const found = line.startsWith("#") ? null : LINE.exec(line);
    if (found === null) continue;
    const [, name, labels = "", value] = found;
    const pairs = Array.from(labels.matchAll(LABEL), ([, each, is]) => [each!, is!] as const);
    const list = samples.get(name!) ?? [];
    list.push({ labels: new Map(pairs), value: Number(value) });
    samples.set(name!, list);
  }
  return new Metrics(samples);
}

/** Returns the upper bound of the bucket in which a quantile is; undefined without observations. */
export function quantile(metrics: Metrics, name: string, part: number): number | undefined {
  const buckets = metrics.buckets(name);
  const all = buckets[buckets.length - 1]?.value ?? 0;
  if (all === 0) return undefined;
  const bound = buckets.find((bucket) => bucket.value >= part * all)?.labels.get("le");
  return bound === undefined || bound === "+Inf" ? undefined : Number(bound);
}
