"""Reading a page of metrics back, with Prometheus's own parser."""

from prometheus_client.parser import text_string_to_metric_families

from control_api.exposition import Exposition

Values = dict[str, float]


def values_of(page: Exposition) -> Values:
    """Every sample by its name and labels: `name`, or `name{a=1,b=2}` in order of the labels."""
    text, _ = page.metrics_text()
    return {
        _key(sample.name, sample.labels): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def _key(name: str, labels: dict[str, str]) -> str:
    told = ",".join(f"{label}={value}" for label, value in sorted(labels.items()))
    return f"{name}{{{told}}}" if told else name
