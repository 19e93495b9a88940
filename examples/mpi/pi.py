"""Pi by numerical integration, each process a part of the sum.

ingot train run --nodes 2 --launcher first --algo mpi --spec small -- mpirun python3 pi.py
"""

from mpi4py import MPI

STEPS = 1_000_000


def main() -> None:
    world = MPI.COMM_WORLD
    width = 1.0 / STEPS
    part = sum(4.0 / (1.0 + ((i + 0.5) * width) ** 2) for i in range(world.rank, STEPS, world.size)) * width
    parts = world.gather((part, MPI.Get_processor_name()))
    if world.rank == 0:
        for rank, (value, node) in enumerate(parts):
            print(f"process {rank} of {world.size} on {node}: {value:.6f}")
        print(f"pi is {sum(value for value, _ in parts):.9f}")


if __name__ == "__main__":
    main()
