import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function PlaygroundPage() {
  return (
    <>
      <PageHeader title="Playground" />
      <Empty title="Nothing here yet" />
    </>
  );
}
