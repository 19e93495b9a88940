"""The objects of the platform, as plain dictionaries with known keys."""

from __future__ import annotations

from typing import Any, Dict, TypedDict

Object = Dict[str, Any]


class Ref(TypedDict):
    id: int
    name: str


class Base(TypedDict):
    """What every object has."""

    id: int
    revision: int
    created_at: str
    updated_at: str
    created_by: Ref | None


class User(Base):
    name: str
    display_name: str | None
    email: str | None
    category: str
    administrator: bool
    disabled: bool
    language: str | None


class Group(Base):
    name: str
    description: str | None


class GroupMember(Base):
    group: Ref
    user: Ref


class Role(Base):
    name: str
    description: str | None
    permissions: list[str]
    built_in: bool


class Project(Base):
    name: str
    description: str | None
    quota: dict[str, Any] | None
    weight: int  # of its fair share
    job_access: bool  # jobs reach the platform


class Member(Base):
    project: Ref
    user: Ref | None
    group: Ref | None
    role: Ref


class _TokenOnce(TypedDict, total=False):
    secret: str  # only in the answer that made it


class Token(Base, _TokenOnce):
    name: str
    scopes: list[str]
    prefix: str
    expires_at: str | None
    last_used_at: str | None


class Session(Base):
    address: str | None
    agent: str | None
    last_used_at: str | None
    expires_at: str | None
    current: bool


class Audit(Base):
    at: str
    user: Ref | None
    job: int | None  # through which the user did it
    address: str | None
    verb: str
    kind: str
    object: int | None
    name: str | None
    project: Ref | None
    detail: Any


class LabelSet(Base):
    project: Ref
    name: str
    description: str | None
    public: bool
    labels: list[dict[str, Any]]


class Dataset(Base):
    project: Ref
    name: str
    data_type: str
    annotation_type: str
    label_set: Ref | None
    public: bool


class DatasetVersion(Base):
    name: str
    number: int
    description: str | None
    state: str
    samples: int
    annotated: int
    cleaned: int
    bytes: int
    digest: str | None


class Layer(Base):
    project: Ref
    name: str
    dataset_version: Ref
    made_by_kind: str | None
    made_by: int | None
    state: str  # writing, ready, failed
    samples: int


class Task(Base):
    project: Ref
    name: str
    type: str
    state: str
    done: int | None
    total: int | None
    problems: int | None
    message: str | None
    result: Any
    output_name: str | None


class Spec(Base):
    name: str
    cpus: float
    memory: int
    accelerator: str | None
    accelerators: float
    ib: bool
    roce: bool
    description: str | None


class Job(Base):
    project: Ref
    name: str
    state: str
    reason: str | None
    image: str
    command: str
    env: dict[str, str]
    spec: Ref
    nodes: int
    attempt: int
    exit_code: int | None
    started_at: str | None
    ended_at: str | None


class Environment(Base):
    project: Ref
    name: str
    state: str
    reason: str | None
    description: str | None
    datasets: list[Ref]
    algorithms: list[Ref]
    models: list[Ref]
    image: str
    spec: Ref
    nodes: int
    hours: float
    idle_hours: float
    ssh_keys: list[str]
    job: Ref | None
    started_at: str | None
    ends_at: str | None
    idle_s: int | None


class EnvironmentTool(TypedDict):
    name: str
    title: dict[str, str]
    state: str  # starting, ready, missing
    url: str | None
    reason: str | None


class EnvironmentAccess(TypedDict):
    tools: list[EnvironmentTool]
    ssh: Object | None
    idle_s: int | None


class Service(Base):
    project: Ref
    name: str
    state: str  # stopped, starting, serving, degraded, failed
    reason: str | None
    reason_zh: str | None
    address: str
    production: str | None  # "2/1": replicas wanted and ready
    canary: str | None
    description: str | None
    share: int  # thousandths
    rules: Object
    origins: list[str]
    body_limit: int
    time_limit_s: int
    drain_s: int
    resend: str
    host: str | None
    stopped: bool


class ServiceVersion(Base):
    project: Ref
    service: Ref
    name: str
    number: int
    role: str  # production, canary, retired
    state: str  # pending, starting, serving, degraded, stopping, stopped, failed
    reason: str | None
    reason_zh: str | None
    model_version: Ref | None
    image_version: Ref | None
    command: str | None
    port: int
    health_path: str
    spec: Ref
    replicas: int
    ready: int
    env_names: list[str]
    generation: int
    stopped: bool


class _KeyOnce(TypedDict, total=False):
    secret: str


class ServiceKey(Base, _KeyOnce):
    project: Ref
    service: Ref
    name: str
    prefix: str
    rate: float
    burst: int
    concurrency: int
    expires_at: str | None
    last_used_at: str | None


class Deployment(TypedDict):
    service: Service
    version: ServiceVersion
    key: ServiceKey | None


class Team(Base):
    project: Ref
    name: str
    description: str | None
    role: str  # labelling, review
    members: list[Ref]


class LabelTask(Base):
    project: Ref
    name: str
    description: str | None
    version: Ref
    labelling_team: Ref
    review_team: Ref | None
    state: str  # draft, open, paused, done, cancelled
    deadline: str | None
    review_ratio: int
    raised: dict[str, int]
    seats: int
    selection: dict[str, Any]
    instructions: str | None
    batch_size: int
    lease: int  # seconds
    require_attributes: bool
    samples: int
    labelled: int
    reviewing: int
    accepted: int
    rejected: int
    skipped: int


class _ForReview(TypedDict, total=False):
    for_review: dict[str, Any]


class Assignment(_ForReview):
    id: int
    task: Ref
    stage: str  # label, review
    seat: int
    state: str  # leased, submitted, skipped, accepted, rejected, returned
    until: str | None
    dataset: int
    version: int
    layer: int | None
    sample: dict[str, Any]
    user: Ref
    rejections: list[dict[str, Any]]


class Evaluation(Base):
    project: Ref
    name: str
    description: str | None
    model_version: Ref | None
    service_version: Ref | None
    layer: Ref | None
    dataset_version: Ref
    part: str
    splits: list[str]
    score: float | None
    draws: int
    state: str
    reason: str | None
    done: int | None
    total: int | None
    figures: dict[str, dict[str, float | None]] | None
    samples: int | None
    automatic: bool
    job: Ref | None
    task: Ref | None
    started_at: str | None
    ended_at: str | None


class Report(TypedDict):
    """Of an evaluation: docs/evaluation.md has all members."""

    type: str
    samples: int
    failed: int
    score: float
    figures: list[dict[str, Any]]
    labels: list[dict[str, Any]]
    total: dict[str, Any]
    cells: list[dict[str, Any]]
    slices: list[dict[str, Any]]
    curves: list[dict[str, Any]]
    calibration: list[dict[str, Any]]
    unmatched: dict[str, list[str]]
    words: list[dict[str, str]]


class Training(Base):
    project: Ref
    name: str
    description: str | None
    datasets: list[Ref]
    algorithm: Ref | None
    function: str
    parameters: dict[str, Any] | None
    base_model: Ref | None
    image: str | None
    spec: Ref
    command: str | None
    env: dict[str, str]
    nodes: int
    launcher: str
    save_to: Ref | None


class TrainingInstance(Base):
    training: Ref
    name: str
    number: int
    state: str
    reason: str | None
    job: Ref | None
    resumed_from: Ref | None
    model_version: Ref | None
    started_at: str | None
    ended_at: str | None
    command: str
    parameters: dict[str, Any] | None


class ModelVersion(Base):
    name: str
    number: int
    description: str | None
    published: bool
    files: int
    bytes: int
    digest: str | None
    lineage: Any
