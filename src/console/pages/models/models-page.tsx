import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function ModelsPage() {
  return (
    <>
      <PageHeader title="Models" />
      <Empty title="Nothing here yet" />
    </>
  );
}
