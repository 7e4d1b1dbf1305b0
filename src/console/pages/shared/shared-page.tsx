import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function SharedPage() {
  return (
    <>
      <PageHeader title="Shared usage" />
      <Empty title="Nothing here yet" />
    </>
  );
}
