ALTER TABLE "holds" ADD COLUMN "items" json;--> statement-breakpoint
-- No version was released that uses the type without this attribute.
ALTER TYPE "batch_hold_outcome" ADD ATTRIBUTE "items" json;
