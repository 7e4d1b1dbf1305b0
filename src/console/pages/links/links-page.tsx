import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function LinksPage() {
  return (
    <>
      <PageHeader title="Shared links" />
      <Empty title="Nothing here yet" />
    </>
  );
}
